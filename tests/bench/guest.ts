/** What a second client notices of what the first one has asked for. */

/** The milliseconds of each request that a client in a thread of its own makes while `busy` goes on. */
export async function timesOfGuest(url: string, busy: () => Promise<void>): Promise<number[]> {
  const worker = new Worker(new URL("./guest_worker.ts", import.meta.url), { type: "module" });
  try {
    await answerTo(worker, url);
    const times = answerTo(worker, "go");
    await busy();
    worker.postMessage("stop");
    return await times as number[];
  } finally {
    worker.terminate();
  }
}

function answerTo(worker: Worker, message: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(`the second client: ${message}`));
  worker.postMessage(message);
  return promise;
}
