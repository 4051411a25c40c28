/** Bytes that come piece by piece, for one reader. */
export interface ByteSource {
  /**
   * The next bytes, which are the caller's from then on. Null: that was all. To be called again only when it has settled.
   *
   * @throws Why there is no more.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Gives the rest up. Harmless at the end. */
  cancel(): void;
}
