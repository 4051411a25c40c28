/** The directory that this process works in; undefined: it has been removed under us. */
export function ownDirectory(): string | undefined {
  try {
    return Deno.cwd();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
