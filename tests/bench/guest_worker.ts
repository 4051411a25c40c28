/**
 * A client in a thread of its own, so that what it measures is the server's delay and not that of the thread that
 * counts the flood. Messages: the URL connects, `go` begins, `stop` ends and brings the milliseconds of each request.
 */
/// <reference lib="webworker" />
import { WireClient } from "../support/wire_client.ts";

/** Between two requests, so that the second client is a guest and no second flood. */
const PAUSE_MS = 1;

let client: WireClient;
let going = false;

self.onmessage = async ({ data }: MessageEvent<string>) => {
  if (data === "go") return void ask();
  if (data === "stop") return void (going = false);
  client = await WireClient.connect(data);
  await client.initialize();
  self.postMessage("ready");
};

async function ask(): Promise<void> {
  const times: number[] = [];
  for (going = true; going;) {
    const began = performance.now();
    await client.request("environment/status");
    times.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  client.drop();
  self.postMessage(times);
}
