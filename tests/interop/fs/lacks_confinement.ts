import { Confinement, NoConfinement } from "./confinement.ts";

/** Whether tests of what is confined must be left out here. Says why. */
export async function lacksConfinement(): Promise<boolean> {
  try {
    await (await Confinement.create())[Symbol.asyncDispose]();
    return false;
  } catch (error) {
    if (!(error instanceof NoConfinement)) throw error;
    console.log(`nothing can be confined here: ${error.message}`);
    return true;
  }
}
