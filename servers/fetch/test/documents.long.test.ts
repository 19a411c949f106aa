// Presentations, OpenDocument and EPUB, too.
import "./documents.test.ts";
