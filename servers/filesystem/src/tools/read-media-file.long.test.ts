// Photos of a camera, too.
import "./read-media-file.test.ts";
