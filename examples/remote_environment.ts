// Makes this machine an environment of a registry until Ctrl-C, with a token that may change while it runs.
//   TOKEN=… deno run -A examples/remote_environment.ts https://registry.example build
import { createLog, runRemoteEnvironment } from "@exec-server/exec-server/server";

const [registry = "http://127.0.0.1:8080", environmentId = "build"] = Deno.args;
const stop = new AbortController();
const interrupted = () => stop.abort();
Deno.addSignalListener("SIGINT", interrupted);

await runRemoteEnvironment({
  registry,
  environmentId,
  auth: () => ({ authorization: `Bearer ${Deno.env.get("TOKEN")}` }),
  signal: stop.signal,
  log: createLog("info"),
  concurrentRequests: 4,
});
Deno.removeSignalListener("SIGINT", interrupted);
console.log("nothing is left open");
