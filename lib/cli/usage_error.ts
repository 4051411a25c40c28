/** The command line cannot be followed. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  /**
   * @param exitCode 2: it is not even well-formed; 1: it is, and asks for what cannot be.
   * @param message What stderr shows, from `error:` or `Error:` on, without a newline at the end.
   */
  constructor(readonly exitCode: 1 | 2, message: string) {
    super(message);
  }
}
