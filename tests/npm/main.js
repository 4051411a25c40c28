/** Runs the smoke test under Node.js or Bun: the package's main module and the place come as arguments. */
import { smoke } from "./smoke.js";

const [entry, place] = process.argv.slice(2);
console.log(JSON.stringify(await smoke(await import(entry), JSON.parse(place))));
