// Speaks with a program: writes to its input, reads the answers, ends its input, waits for its end.
//   deno run -A examples/conversation.ts ws://127.0.0.1:8765
import { connect, linesOf } from "@exec-server/exec-server";

await using server = await connect(Deno.args[0] ?? "ws://127.0.0.1:8765");
await using calculator = await server.start({
  argv: ["sh", "-c", 'while read line; do echo "$line = $(($line))"; done'],
  stdin: true,
});
const answers = linesOf(calculator.stdout);
for (const question of ["1 + 1", "6 * 7", "100 / 8"]) {
  await calculator.write(`${question}\n`);
  console.log((await answers.next()).value);
}
await calculator.closeStdin();
console.log("exit code", (await calculator.exited).code);
