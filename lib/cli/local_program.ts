/** Where programs are looked for if the environment does not say, as shells do. */
const USUAL_PLACES = "/usr/local/bin:/usr/bin:/bin";

/** A program of this machine, such as tar, that need not be told where it is. */
export function localProgram(name: string, options: Deno.CommandOptions): Deno.Command {
  // The platform finds nothing where there is no PATH.
  const found = Deno.env.get("PATH") !== undefined || Deno.build.os === "windows";
  return new Deno.Command(name, found ? options : { ...options, env: { ...options.env, PATH: USUAL_PLACES } });
}
