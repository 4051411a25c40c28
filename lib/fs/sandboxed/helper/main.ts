/** The hidden program that works on files in a sandbox; only the server starts it. */

import { serve } from "./serve.ts";

await serve(Deno.args.slice(-1));
