/** `term`, `TERM` and `SIGTERM` are SIGTERM. @returns Undefined if it can be no signal's name. */
export function signalName(text: string): string | undefined {
  const name = text.toUpperCase().replace(/^(?!SIG)/, "SIG");
  return /^SIG[A-Z]+[0-9]*$/.test(name) ? name : undefined;
}
