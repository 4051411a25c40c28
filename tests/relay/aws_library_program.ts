/** Prints what AWS's library finds for the profile that is named, or for none. */

import { loadAwsLibrary } from "../../lib/relay/direct/aws_credentials.ts";

const profile = Deno.args[0] || undefined;
const library = await loadAwsLibrary();
const region = await library.region(profile ?? "default");
try {
  const { accessKeyId, sessionToken } = await library.provider(profile)();
  console.log(JSON.stringify({ region, accessKeyId, sessionToken }));
} catch (error) {
  console.log(JSON.stringify({ region, failure: (error as Error).message }));
}
