"""The command `evenhand`: a lazy group, so that `--help` costs the import of click alone.

Nothing of ours is imported before a verb is chosen; the help lines therefore stand in a table.
"""

import importlib
import os
import sys
from collections.abc import Sequence

import click

VERBS: dict[str, tuple[str, str]] = {
    "plan": ("evenhand.ui.commands.plan", "Read a sentence and show the plan it asks for."),
    "audit": ("evenhand.ui.commands.audit", "Show a plan, ask for approval, run it, report."),
    "resume": ("evenhand.ui.commands.resume", "Go on with a run that was stopped or killed."),
    "runs": ("evenhand.ui.commands.runs", "List the runs with their state."),
    "show": ("evenhand.ui.commands.show", "Show a run's measurements, or one record's lineage."),
    "report": ("evenhand.ui.commands.report", "Write a run's report again and say where it is."),
    "measure": ("evenhand.ui.commands.measure", "Measure score files that exist already."),
    "compare": ("evenhand.ui.commands.compare", "Set two runs on the same samples side by side."),
    "label": ("evenhand.ui.commands.label", "Let people rate answers: sheets out, ratings in."),
    "sync": ("evenhand.ui.commands.sync", "Complete the graph of a run from its directory."),
    "data": ("evenhand.ui.commands.data", "Inspect, map and freeze a table of visits to audit."),
    "finetune": ("evenhand.ui.commands.finetune", "Fit a mimic of who decided the visits."),
    "score": ("evenhand.ui.commands.score", "Score labels after many prompts with a model."),
    "mitigate": ("evenhand.ui.commands.mitigate", "Mend a run's model; ask before and after."),
    "graph": ("evenhand.ui.commands.graph", "Ask the knowledge graph, export it, drop a run."),
    "chat": ("evenhand.ui.commands.chat", "Open the workbench in the browser, on this machine."),
}
"""Verb -> (module with a click command named `command`, help line)."""

EXIT_USER_ERROR = 2
EXIT_STOPPED = 3
EXIT_INTERRUPTED = 130


class LazyGroup(click.Group):
    """A click group whose commands are modules that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's module; None for an unknown verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(VERBS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; an unknown one is answered with the valid ones, the nearest first."""
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            from evenhand.graph_store.registry import unknown_name

            raise click.UsageError(unknown_name("command", args[0], list(VERBS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help lines from the table, without importing the verbs."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version

    click.echo(f"evenhand {version('evenhand')}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
def root() -> None:
    """Audit medical language models, and human decisions, for bias.

    Try it without a key; nothing leaves this machine:

        evenhand audit --dataset demo --target local --n 6
    """


def _say(text: str) -> None:
    """Print one line on stderr, free of secrets."""
    from evenhand.graph_store.redact import redact

    click.echo(redact(" ".join(text.split())), err=True)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    A user's mistake is one sentence on stderr and 2, a stopped run 3, Ctrl-C 130; anything else
    that is raised is a bug and stays a traceback.
    """
    try:
        result = root.main(args=list(arguments), prog_name="evenhand", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" See `{context.command_path} --help`." if context is not None else ""
        _say(f"Error: {error.format_message()}{hint}")
        return EXIT_USER_ERROR
    except (KeyboardInterrupt, click.Abort) as stop:
        # click raises its own Abort for Ctrl-C, and keeps what said how to go on as the cause.
        _say(str(stop) or str(stop.__cause__ or "") or "stopped")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, a pager) has gone: not a fault, and nothing more can be said.
        sys.stdout = None
        return 0
    except Exception as error:
        from evenhand.graph_store.errors import RunStopped, UserError

        if isinstance(error, UserError):
            _say(f"Error: {error}")
            return EXIT_USER_ERROR
        if isinstance(error, RunStopped):
            _say(f"Stopped: {error}")
            return EXIT_STOPPED
        raise


def main() -> None:
    """Entry point of the script `evenhand`."""
    # Libraries that load models draw bars of their own across ours.
    os.environ.setdefault("TQDM_DISABLE", "1")
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
