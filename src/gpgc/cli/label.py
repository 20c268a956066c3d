"""The command that opens a page to label in."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass

from gpgc.cli.label_options import LabelOptions
from gpgc.cli.options import refuse_trust
from gpgc.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Label(LabelOptions):
    """Label in person, on a page of your own: one item, one key, the next best item.

    The page runs on this machine alone and needs no network. Every label is on disk before it is
    acknowledged. How good the labels of the rest are is measured by random items mixed in. The
    secret in its address is new each time, unless the environment variable GPGC_TOKEN holds one:
    the same one and the same --port let open tabs go on after a restart.
    """

    def run(self) -> None:
        """Read, open the page, serve it until it is closed."""
        from gpgc.cli.label_source import desk_of

        try:
            from gpgc.labelling.server import Server
        except ImportError as error:
            raise InputError(f"gpgc label needs {error.name}: pip install 'gpgc[label]'") from error
        refuse_trust(self.columns, "gpgc label")
        if self.edges is not None:
            self.refuse_neighbors("--edges, which are the graph")
        desk = desk_of(self)
        token = os.environ.get("GPGC_TOKEN") or None
        server = Server(desk, self.port, token, self.people, self.host)
        for name, address in server.urls.items():
            sys.stdout.write(f"gpgc label{f' for {name}' if name else ''}: {address}\n")
        sys.stdout.flush()
        if self.host != "127.0.0.1":
            sys.stderr.write(
                "gpgc label: whoever on the network has one of these addresses sees the items and "
                "can label them, and what is sent can be read on its way.\n"
            )
        if not self.no_browser and len(server.urls) == 1:
            webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.run()
        desk.session.close()
        sys.stdout.write(f"stopped; {len(desk.session.ledger.labels)} labels in {self.journal}\n")
