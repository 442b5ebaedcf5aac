import { withSubject } from "../conformance/subjects.ts";
import { attackFile } from "./attack-file.ts";

await withSubject("bubblewrap", attackFile);
