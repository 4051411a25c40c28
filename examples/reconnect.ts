// Follows a long program. The connection may be lost and found again meanwhile: no line is lost, none comes twice.
//   deno run -A examples/reconnect.ts ws://127.0.0.1:8765
import { connect, linesOf } from "@exec-server/exec-server";

await using server = await connect(Deno.args[0] ?? "ws://127.0.0.1:8765", {
  onState: (state) => console.error(`(${state})`),
});
await using counter = await server.start({
  argv: ["sh", "-c", "for n in 1 2 3 4 5 6 7 8 9 10; do echo line $n; sleep 0.1; done"],
});
for await (const line of linesOf(counter.stdout)) console.log(line);
console.log("exit code", (await counter.exited).code);
