// Runs a program in an environment of a registry, whose rendezvous sees nothing of it.
//   TOKEN=… deno run -A examples/over_relay.ts https://registry.example build
import { connectRelay } from "@exec-server/exec-server";

const [registry = "http://127.0.0.1:8080", environmentId = "build"] = Deno.args;
await using environment = await connectRelay({
  registry,
  environmentId,
  token: () => Deno.env.get("TOKEN") ?? "",
}, { onState: (state) => console.error(`(${state})`) });
const { code, stdoutText } = await environment.run({ argv: ["sh", "-c", "echo hello from $0"] });
console.log(stdoutText.trimEnd(), code);
