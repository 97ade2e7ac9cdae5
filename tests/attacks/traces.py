"""What attacks and forgeries leave behind as evidence, for people to read."""

from __future__ import annotations

OF_ATTACKS: dict[str, set[str]] = {
    "refused_call attack": {
        "opens it without Python",
        "opens it by its handle",
        "opens the gradebook",
        "reads the grader's environment",
        "reads the grader's command line",
        "reads the grader's memory",
        "reads its parent's environment",
        "reads its parent's memory map",
        "takes the grader's folder through proc",
        "asks for shared memory",
        "asks for a message queue",
        "asks for the keys of the kernel",
        "leaves a key in the kernel",
        "appends to the gradebook",
        "changes the gradebook",
        "writes into the packages",
        "writes into the worker",
        "leaves bytecode of its own for the next",
        "writes the kernel's settings",
        "spares itself from the memory killer",
        "mounts",
        "opens a raw socket",
        "opens a socket to the kernel",
        "opens a socket to the host",
        "opens sockets past the library",
        "forks without Python",
        "forks by vfork",
        "forks by clone3",
        "forks until it may no more",
        "kills the grader",
        "kills its parent",
        "kills its group",
        "kills everybody",
        "kills a thread of the grader",
        "lets the kernel kill its parent",
        "lives on when its parent dies",
        "adopts orphans",
        "traces the grader",
        "traces its parent",
        "reads its parent's memory directly",
        "takes a descriptor of its parent",
        "makes a world of its own",
        "enters another world",
        "loads a program into the kernel",
        "watches the processor",
        "handles page faults",
        "keeps secret memory",
        "locks memory",
        "ends by a signal without a name",
    },
    "refused_call doubt": {
        "opens it on the way up from its own folder",
        "lists other students' work",
        "opens another student's work",
        "lists the homes",
        "opens the list of users",
        "opens the list of hosts",
        "lists the folders of the machine",
        "lists all processes",
        "opens the kernel's settings",
        "lists the devices of the kernel",
        "opens the memory of the machine",
        "imports the hidden checks",
        "imports the reference",
        "connects to a socket in a folder",
        "connects to a socket without a folder",
        "forks",
        "becomes another program",
        "spawns a program",
        "leaves an orphan behind",
    },
    "refused_call notice": {
        "makes a link beside it",
        "writes to the root",
        "connects over TCP",
        "sends over UDP",
        "connects over IPv6",
        "listens",
        "asks for a name",
        "asks a web server",
        "starts a program",
        "starts a shell",
    },
    "patched attack": {
        "breaks the shell",
        "breaks the worker",
    },
}
"""Attacks by kind and severity; all others use what is their own, and leave nothing."""

OF_FORGERIES: dict[str, set[str]] = {
    "patched attack": {
        "deletes every assertion",
        "rewrites every cell",
        "runs code around every cell",
        "patches what compares",
        "patches the builtins",
        "defines the call of the checks itself",
        "answers every call with truth",
        "answers for all steps at once",
        "answers steps that nobody asked",
        "answers only the first step",
        "answers with what it answered before",
        "answers with objects instead of values",
        "answers every call with the call",
        "answers every call with its argument",
        "answers that a name is missing",
        "answers with a class of error that is a page",
        "answers with a limit that there is not",
        "answers with nothing",
        "answers with brackets",
        "answers with keys that collide",
        "answers with a shape that is not true",
        "answers with an array that unfolds",
        "encodes everything as truth",
    },
    "patched doubt": {
        "runs code around every cell",
        "patches what compares",
    },
    "fake_module attack": {
        "brings modules of the kit's names",
    },
    "fake_module doubt": {
        "brings modules of the kit's names",
    },
    "forged_frame attack": {
        "writes answers on every descriptor",
        "writes a second answer to every call",
        "answers with the name of an earlier call",
        "answers from a thread before it is asked",
    },
    "skip_tag attack": {
        "asks that its test cells are skipped",
    },
    "locked_cell doubt": {
        "rewrites the tests",
    },
    "points doubt": {
        "gives its test cells more points",
    },
    "results doubt": {
        "claims a result in the metadata",
    },
}
"""Forgeries likewise; a result that lies is a wrong result, and leaves nothing."""


def left_by(name: str, traces: dict[str, set[str]]) -> set[str]:
    """
    Return what an attack or a forgery leaves behind.

    Parameters
    ----------
    name : str
        Its name.
    traces : dict
        Of attacks, or of forgeries.
    """
    return {kind for kind, names in traces.items() if name in names}
