// What is written for an Environment also works without any server, on this machine.
//   deno run -A examples/local.ts [ws://127.0.0.1:8765]
import { connect, type Environment } from "@exec-server/exec-server";
import { localEnvironment } from "@exec-server/exec-server/local";

async function countLines(environment: Environment, text: string): Promise<number> {
  const { stdoutText } = await environment.run({ argv: ["wc", "-l"], input: text });
  return Number(stdoutText);
}

const [url] = Deno.args;
await using environment = url === undefined ? await localEnvironment() : await connect(url);
console.log(environment.id, await countLines(environment, "one\ntwo\nthree\n"));
