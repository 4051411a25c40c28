/** What is handed to node:child_process or node-pty, once it is known that it can be. */
export interface Launch {
  /** Looked for on the PATH of `env` if there is no slash in it. */
  readonly file: string;
  /** Without the first word. */
  readonly args: readonly string[];
  /** The first word; on terminals it is always the file. */
  readonly arg0: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** To be called in the same step as the start. */
  readonly started?: (pid: number) => void;
  /** To be called when the program has ended and was waited for. */
  readonly ended?: () => void;
}
