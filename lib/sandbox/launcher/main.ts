/** The hidden program that confines itself and becomes another one; only the server starts it. */

import { launch } from "./launch.ts";

launch(Deno.args.slice(-1));
