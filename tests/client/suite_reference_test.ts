import { installedReference } from "../bench/reference.ts";
import { registerSuite } from "./suite/register.ts";

registerSuite("reference", await installedReference());
