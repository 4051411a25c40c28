// Runs a program on the server's machine and prints what it wrote and how it ended.
//   deno run -A examples/run_command.ts ws://127.0.0.1:8765
import { connect } from "@exec-server/exec-server";

await using server = await connect(Deno.args[0] ?? "ws://127.0.0.1:8765");
const { code, stdoutText, stderrText } = await server.run({
  argv: ["sh", "-c", "echo $GREETING, world; echo oh >&2; exit 3"],
  env: { GREETING: "hello" },
});
console.log({ code, stdoutText, stderrText });
