// An interactive shell on the server's machine. Ends with the shell.
//   deno run -A examples/terminal.ts ws://127.0.0.1:8765
import { connect } from "@exec-server/exec-server";

await using server = await connect(Deno.args[0] ?? "ws://127.0.0.1:8765");
const { columns, rows } = Deno.consoleSize();
await using shell = await server.start({ argv: ["sh", "-i"], tty: { columns, rows }, env: { TERM: "xterm-256color" } });
Deno.stdin.setRaw(true);
try {
  Deno.addSignalListener("SIGWINCH", () => void shell.resize(Deno.consoleSize()).catch(() => {}));
  const typing = (async () => {
    for await (const keys of Deno.stdin.readable) await shell.write(keys);
  })();
  typing.catch(() => {}); // the shell ends first, as a rule
  await shell.stdout.pipeTo(Deno.stdout.writable, { preventClose: true });
} finally {
  Deno.stdin.setRaw(false);
}
const { code } = await shell.exited;
await server[Symbol.asyncDispose]();
Deno.exit(code);
