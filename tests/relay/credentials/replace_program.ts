/** Replaces the sign-in file that it is told, or says why it cannot. */
import { authFile } from "../../../lib/relay/credentials/auth_file.ts";

try {
  await authFile(Deno.args[0]!).replace(new Map([["new", true]]));
} catch (error) {
  console.log((error as Error).message);
}
