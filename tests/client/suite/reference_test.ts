import { installedReference } from "../../bench/reference.ts";
import { registerSuite } from "./register.ts";

registerSuite("reference", await installedReference());
