"""`evenhand chat`: the workbench in the browser."""

import click

from evenhand.ui.options import workspace_options
from evenhand.ui.settings import load_settings


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port (the first free from 7860).")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--auth", metavar="USER", help="Ask for this user and $EVENHAND_PASSWORD.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A further name that browsers may use."
)
@workspace_options
def command(
    port: int | None,
    host: str,
    auth: str | None,
    allow_host: tuple[str, ...],
    config: str | None,
    runs_dir: str | None,
) -> None:
    """Open the workbench in the browser, for this machine alone unless --host says otherwise.

    On any other address than this machine's own, --auth is needed.
    """
    settings = load_settings(config, runs_dir=runs_dir)
    from evenhand.ui.app import serve

    serve(settings, host=host, port=port, user=auth, more_hosts=allow_host)
