interface Runtimes {
  readonly Deno?: { readonly build?: { readonly os?: string } };
  readonly process?: { readonly platform?: string };
}

/**
 * The system that this runs on, in Deno's words: `linux`, `darwin`, `windows` …; under Node.js and Bun by what these
 * say. `linux` where nobody tells, as in a browser, which has no paths of its own.
 */
export const OPERATING_SYSTEM: string = operatingSystem(globalThis as Runtimes);

export function operatingSystem({ Deno, process }: Runtimes): string {
  const platform = Deno?.build?.os ?? process?.platform ?? "linux";
  return platform === "win32" ? "windows" : platform;
}
