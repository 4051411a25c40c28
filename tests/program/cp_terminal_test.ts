import assert from "node:assert/strict";
import { TcpProxy } from "../client/support/tcp_proxy.ts";
import { CommandLine } from "./command_line.ts";
import { testBothSides } from "./command_sides.ts";
import { eventually } from "./eventually.ts";
import { leftovers, sameContent, shell, writeNoise } from "./files_of_user.ts";

testBothSides(
  "cp on a terminal shows a bar and takes it away, and Ctrl-C leaves a download to be continued",
  async (scene) => {
    const { user, server, connect } = scene;
    await writeNoise(`${user.home}/big`, 12_000_000);
    const stalled = [{ direction: "toClient", afterBytes: 9_000_000, fault: { kind: "stall", ms: 60_000 } }] as const;
    await using proxy = new TcpProxy(server.url, { admit: () => stalled });
    await using terminal = user.terminal({ rows: 24, columns: 100 });
    await terminal.shows("@> ");
    await terminal.type(`exec-server cp --connect ${proxy.url} env:${user.home}/big back\n`);
    await eventually("a part has come", () => assert.ok(Deno.statSync(leftovers(user)[0]!).size > 4_000_000));
    await terminal.type("\x03");
    const shown = await terminal.shows("@> ");
    assert.match(shown, /The same command continues a file where it was interrupted\./);
    assert.match(await terminal.does("echo code $?"), /code 130/);
    await terminal.does(`exec-server cp ${connect.join(" ")} env:${user.home}/big back`);
    await sameContent(`${user.home}/big`, `${user.home}/back`);
  },
);

Deno.test(
  "Ctrl-C during a copy to a server of our own leaves nothing",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    await using user = await CommandLine.create();
    await shell(user, "truncate -s 400M big; mkdir far");
    await using terminal = user.terminal({ rows: 24, columns: 100 });
    await terminal.shows("@> ");
    await terminal.type(`exec-server cp big env:${user.home}/far\n`);
    await terminal.shows(/big {2}\[[#-]{20}\] +\d+% {2}[\d.]+ MiB {2}[\d.]+ MiB\/s/);
    await terminal.type("\x03");
    await terminal.shows("\r\x1b[K");
    await terminal.shows("@> ");
    assert.match(await terminal.does("echo code $?; ls -A far"), /^code 130\n$/);
  },
);
