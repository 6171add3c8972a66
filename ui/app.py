"""The workbench: Gradio's pages behind our guard, on this machine alone unless said otherwise."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.run_directory import list_runs
from evenhand.ui.guard import REPORT_POLICY, Guard, TalkAddress, allowed_hosts, is_loopback
from evenhand.ui.settings import Settings

if TYPE_CHECKING:
    import gradio as gr

PASSWORD_VARIABLE = "EVENHAND_PASSWORD"  # noqa: S105 (its name, not its value)


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    user: str | None = None,
    more_hosts: Iterable[str] = (),
) -> None:
    """Serve the workbench until Ctrl-C.

    Raises:
        UserError: Others could reach it and no login is set, or the port is taken.
    """
    password = _password(host, user)
    try:
        app, address = launch(
            settings, host=host, port=port, user=user, password=password, more_hosts=more_hosts
        )
    except OSError as error:
        raise UserError(
            f"Cannot listen at {host}:{port or 7860}: {error}. Choose another --port."
        ) from None
    print(f"evenhand is open at {address} (Ctrl-C ends it; runs go on)")
    app.block_thread()


def launch(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    user: str | None = None,
    password: str | None = None,
    more_hosts: Iterable[str] = (),
) -> "tuple[gr.Blocks, str]":
    """Start the server in the background and return the app and its address."""
    _quiet_gradio(settings.runs_dir)
    from evenhand.ui import theme

    app = build_app(settings)
    hosts = allowed_hosts(host, more_hosts)
    options: dict[str, Any] = {
        "middleware": [
            Middleware(Guard, hosts=hosts, user=user, password=password),
            Middleware(TalkAddress),
        ],
        "routes": [Route("/report/{run_id}", _report_page(settings.runs_dir))],
    }
    _, address, _ = app.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        quiet=True,
        share=False,
        inbrowser=False,
        run_history=False,
        footer_links=[],
        enable_monitoring=False,
        ssr_mode=False,
        max_file_size="200mb",
        app_kwargs=options,
        css=theme.css(),
        head=theme.head(),
    )
    return app, address


def build_app(settings: Settings) -> "gr.Blocks":
    """Return the workbench with its screens."""
    _quiet_gradio(settings.runs_dir)
    import gradio as gr

    from evenhand.ui.screens.chat import ChatScreen

    with gr.Blocks(
        title="evenhand: chat", analytics_enabled=False, delete_cache=(3600, 86400)
    ) as app:
        ChatScreen(settings).build(app)
    # The default lets one session at a time run an event.
    app.queue(default_concurrency_limit=10)
    return cast("gr.Blocks", app)


def _quiet_gradio(workspace: Path) -> None:
    """Settle what Gradio reads when it is imported: no analytics, its files in the workspace."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["GRADIO_TEMP_DIR"] = str((workspace / "uploads").resolve())


def _password(host: str, user: str | None) -> str | None:
    if user is None:
        if not is_loopback(host):
            raise UserError(
                f"At {host} others could open the workbench; expected --auth USER with the "
                f"password in {PASSWORD_VARIABLE}. Set both, or leave --host out."
            )
        return None
    password = os.environ.get(PASSWORD_VARIABLE, "")
    if len(password) < 8:
        raise UserError(
            f"--auth {user} needs a password of 8 signs or more in {PASSWORD_VARIABLE}. "
            "Set that variable and try again."
        )
    return password


def _report_page(runs_dir: Path) -> Any:
    async def report_page(request: Request) -> Response:
        """Serve the report of a run, under a policy that lets no script run."""
        name = request.path_params["run_id"]
        # Looked up, never joined to a path: only a run that exists can be named.
        found = [run for run in list_runs(runs_dir) if run.run_id == name]
        path = found[0].path / "report.html" if found else None
        if path is None or not path.is_file():
            raise HTTPException(404, "No report of that run yet.")
        headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
        return HTMLResponse(path.read_text("utf-8"), headers=headers)

    return report_page
