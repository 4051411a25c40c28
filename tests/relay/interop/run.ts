/** One thing that two programs must do together. */
export interface Run {
  readonly title: string;
  /** @throws {Error} If they do not. */
  run(): Promise<void>;
}
