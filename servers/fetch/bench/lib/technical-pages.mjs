// Pages of documentation generators in Debian's documentation packages, and where each generator writes what a reader needs.
// The rules read the generators' own classes in the delivered HTML; nothing here is shared with the server.

/**
 * @typedef {object} Generator
 * @property {string[]} pages files below the folder of Debian's documentation
 * @property {string} [main] the content; otherwise the body
 * @property {string} [headings] `h1` to `h6` if left out
 * @property {string} [signatures] signatures and parameters
 * @property {string} [scope] what a signature belongs to, with its description
 * @property {string} [tables]
 * @property {string} [rows] a row of such a table; `tr` if left out
 * @property {string} [grid] tables of `div`, whose first children are the header's cells
 * @property {string} [code] `pre` if left out
 * @property {string} [dropped] links to the element itself, to its source, and counts
 * @property {(code: Element) => string | undefined} [language]
 */

/** @param {string} folder @param {string} names separated by spaces */
const pages = (folder, names) => names.split(" ").map((name) => `${folder}/${name}.html`);
/** @param {Element | null} element @param {RegExp} pattern */
const inClass = (element, pattern) => pattern.exec(element?.getAttribute("class") ?? "")?.[1];

/** @type {Record<string, Generator>} */
export const GENERATORS = {
  rustdoc: {
    pages: [
      ...pages(
        "rust-doc/html/std",
        "vec/struct.Vec string/struct.String option/enum.Option iter/trait.Iterator collections/struct.HashMap " +
          "fs/struct.File macro.println fmt/index primitive.slice",
      ),
      "rust-doc/html/core/cell/index.html",
    ],
    main: "#main-content",
    headings: "h1, h2, h3:not(.code-header), h4:not(.code-header), h5, h6",
    signatures: ".code-header, pre.item-decl",
    scope: "details, section",
    dropped:
      ".anchor, .rightside, .out-of-band, #copy-path, .srclink, .since, .test-arrow, a.anchor, .notable-traits",
    language: (code) => (code.classList.contains("rust") ? "rust" : undefined),
  },
  mdBook: {
    pages: pages(
      "rust-doc/html",
      "book/ch04-01-what-is-ownership book/ch10-02-traits book/ch15-05-interior-mutability book/ch20-02-multithreaded " +
        "reference/items/functions reference/types/closure reference/attributes reference/tokens nomicon/vec/vec-alloc",
    ),
    main: "main",
    tables: "table",
    code: "pre code",
    language: (code) => inClass(code, /language-(\w+)/),
  },
  Sphinx: {
    pages: [
      ...pages(
        "python3-doc/html",
        "library/json library/functions library/asyncio-task library/stdtypes library/argparse library/re library/string " +
          "tutorial/classes tutorial/controlflow reference/datamodel",
      ),
      ...pages("python-django-doc/html", "topics/db/models ref/models/querysets intro/tutorial01"),
      ...pages("cmake-doc/html", "manual/cmake-generator-expressions.7 command/string"),
      ...pages(
        "sphinx-doc/html/usage",
        "restructuredtext/directives restructuredtext/basics configuration",
      ),
    ],
    main: "div.body, [role=main], #bd .yui-b",
    signatures: "dt.sig",
    scope: "dl",
    tables: "table.docutils:not(.footnote):not(.citation)",
    dropped: "a.headerlink, a.reference.internal[href*=_modules], a.footnote-reference",
    language: (code) =>
      inClass(code.closest("[class*=highlight-]"), /highlight-(?!default|none|text)(\S+)/)?.replace(
        "python3",
        "python",
      ),
  },
  javadoc: {
    pages: pages(
      "default-jdk-doc/api/java.base/java",
      "lang/String util/HashMap util/stream/Stream util/Optional time/LocalDate util/concurrent/CompletableFuture util/package-summary",
    ),
    main: "main",
    signatures: "div.type-signature, div.member-signature, dl.notes dd",
    scope: "section.detail",
    tables: "table",
    grid: ".summary-table",
  },
  DocBook: {
    pages: [
      ...pages(
        "postgresql-doc-15/html",
        "sql-createtable functions-string functions-json plpgsql-control-structures datatype-datetime libpq-exec app-pgdump ddl-partitioning",
      ),
      ...pages(
        "libstdc++-12-doc/libstdc++/manual",
        "containers using_macros debug_mode_using policy_data_structures_using mt_allocator_impl",
      ),
    ],
    main: ".refentry, .sect1, .section, .chapter",
    headings:
      "h1, h2, h3:not(.note h3, .tip h3, .caution h3, .warning h3, .important h3), h4, h5, h6",
    signatures: ".variablelist dt",
    tables: ".table table, .informaltable table",
    dropped: ".id_link",
  },
  Doxygen: {
    pages: [
      ...pages(
        "libeigen3-dev/html",
        "classEigen_1_1AlignedBox classEigen_1_1LLT group__TutorialMatrixClass group__TutorialSlicingIndexing group__TutorialSparse",
      ),
      ...pages("doxygen/html", "docblocks markdown commands lists"),
      ...pages("libstdc++-12-doc/libstdc++/user", "a08898 a00728"),
    ],
    main: ".contents",
    headings: "h1, h2, h3:not(.toc h3), h4, h5, h6",
    signatures: "div.memproto, table.params td.paramname",
    scope: ".memitem",
    tables: "table.doxtable, table.markdownTable, table.memberdecls, table.manual",
    rows: "tr:not(.separator):not(.heading):not(.inherit):not(.inherit_header)",
    code: "pre, div.fragment",
    dropped: ".permalink, .mlabels-right, .lineno, .ttc",
  },
  "Node.js": {
    pages: pages("nodejs/api", "fs stream path url events"),
    main: "#apicontent",
    tables: "table",
    dropped: "a.mark, .srclink, .source_version",
    language: (code) => inClass(code.querySelector("code"), /language-(\w+)/),
  },
  "gi-docgen": {
    pages: pages(
      "libgtk-4-doc/gtk4",
      "class.Button method.Button.set_label ctor.Button.new_with_label getting_started signal.Button.clicked enum.Align " +
        "drawing-model migrating-3to4 func.show_uri_full",
    ),
    main: "#main",
    signatures: "dl.arguments dt, dl.enum-members dt, .arg-description",
    tables: ".docblock > table",
    code: "pre:not(pre pre)",
    dropped: ".anchor, .srclink",
    language: (code) => inClass(code.querySelector("code"), /language-(\w+)/),
  },
  "gtk-doc": {
    pages: [
      ...pages("../gtk-doc/html/glib", "glib-Hash-Tables glib-GDateTime glib-Message-Logging"),
      ...pages("../gtk-doc/html", "cairo/cairo-Paths gio/GApplication"),
    ],
    main: ".refentry",
    signatures: "td.parameter_name, td.enum_member_name, td.struct_member_name",
    tables: "table.informaltable:not(.refnamediv table)",
    code: "pre:not(.listing_lines pre)",
    dropped: ".listing_lines",
  },
  Qt: {
    pages: pages("../qt5/doc/qtcore", "qstring qlist signalsandslots"),
    main: ".content, body",
    headings: "h1, h2, h3:not(.toc h3), h4, h5, h6",
    tables: "table.alignedsummary, table.generic, table.valuelist",
    dropped: ".naviNextPrevious",
    language: (code) => (code.classList.contains("cpp") ? "cpp" : undefined),
  },
  Haddock: {
    pages: pages(
      "ghc-doc/html/libraries/base-4.15.1.0",
      "Data-Maybe Data-List Data-IORef Control-Monad",
    ),
    main: "#content",
    headings: "#interface h1, #interface h2, #interface h3, #description h1",
    signatures: "#interface p.src",
    scope: "div.top",
    dropped: "a.link, a.selflink, .fixity, .rightedge",
  },
  Boost: {
    pages: pages(
      "libboost1.74-doc/doc/html",
      "thread/thread_management any/reference program_options/tutorial container/main_features boost/any",
    ),
    main: ".section, .refentry, .chapter",
    tables: ".table table, .informaltable table",
  },
};
