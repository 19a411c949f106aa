/** git's configuration keys, as printed by `git help -c` of git 2.39 and 2.55, separated by spaces. */
type Keys = string;

/** Keys that are overridden, regardless of what a repository sets. */
export const OVERRIDDEN: Keys = `
  commit.template core.excludesFile core.unsetenvvars diff.orderFile fetch.fsck.skipList gpg.ssh.allowedSignersFile
  gpg.ssh.revocationFile mailmap.file pull.octopus pull.twohead push.pushOption rerere.enabled
  submodule.<name>.ignore transfer.bundleURI uploadpack.packObjectsHook
`;

/** Keys that make tools for remotes refuse, if a repository sets them. */
export const REFUSED: Keys = `
  fetch.bundleURI http.cookieFile http.curloptResolve http.delegation http.emptyAuth http.followRedirects
  http.keepAliveCount http.keepAliveIdle http.keepAliveInterval http.maxRetries http.maxRetryTime http.minSessions
  http.pinnedPubkey http.proactiveAuth http.proxy http.proxyAuthMethod http.proxySSLCAInfo http.proxySSLCert
  http.proxySSLCertPasswordProtected http.proxySSLKey http.retryAfter http.saveCookies http.schannelCheckRevoke
  http.schannelUseSSLCAInfo http.sslBackend http.sslCAInfo http.sslCAPath http.sslCert http.sslCertPasswordProtected
  http.sslCertType http.sslCipherList http.sslKey http.sslKeyType http.sslTry http.sslVerify http.sslVersion
  remote.<name>.proxy
`;

/**
 * Other keys that name a program, a file, a URL or an address, and whole sections without effect here, by reason. The test in
 * parentheses proves it.
 */
export const SAFE: Readonly<Record<string, Keys>> = {
  "Its command is never run":
    "bitmapPseudoMerge.* browser.* bundle.* completion.* credentialCache.* credentialStore.* difftool.* fastimport.unpackLimit fsck.* gitcvs.* gitweb.* gui.* guitool.* help.* imap.* instaweb.* man.* mergetool.* receive.* repack.* replay.* sendemail.* showBranch.* tar.* uploadarchive.* uploadpack.* uploadpackfilter.* web.* diff.guitool diff.tool merge.guitool merge.tool lsrefs.*",
  "git am gets an option for each, git log reads no file of format.*, and git format-patch is never run":
    "am.* format.* mailinfo.*",
  "Housekeeping is off (gc.auto, maintenance.auto)": "gc.* maintenance.*",
  "Git reads it from the user's own configuration only (git-config(1))": "safe.* trace2.*",
  "Every run passes its own template (remote.test.ts: executes nothing it brings along: no hooks, filters, submodules or templates)":
    "init.*",
  "No object is fetched later: GIT_NO_LAZY_FETCH (attacks.ts: makes no tool execute anything, and every response equals that of the twin)":
    "promisor.*",
  "GIT_SSH_VARIANT in the environment overrides it": "ssh.variant",
  "core.fsmonitor is off, so the daemon does not run either":
    "fsmonitor.* core.fsmonitorHookVersion",
  "Refused unless inside (fence.test.ts: no file outside that the configuration names (blame.ignoreRevsFile))":
    "blame.ignoreRevsFile",
  "Refused unless inside (fence.test.ts: leads no call to another repository or file, in any of the known ways)":
    "core.worktree",
  "Refused unless inside (fence.test.ts: leads to no refs elsewhere (extensions.refStorage))":
    "extensions.*",
  "Chooses among the user's own keys, and only if the user signs": "user.signingKey",
  "No tool looks into a submodule that is not checked out": "submodule.<name>.gitdir",
  "No file from outside is copied (planted.test.ts: copies no file from outside (MERGE_RR))":
    "rerere.autoUpdate",
};

/** Keys that name none of these: switches, numbers, colors, refs, patterns, names and texts. */
export const PLAIN: Keys = `
  add.ignoreErrors add.interactive.useBuiltin advice.* apply.ignoreWhitespace apply.whitespace attr.tree
  author.email author.name blame.blankBoundary blame.coloring blame.date blame.markIgnoredLines
  blame.markUnblamableLines blame.showEmail blame.showRoot branch.<name>.deleteMerged branch.<name>.description
  branch.<name>.merge branch.<name>.rebase branch.autoSetupMerge branch.autoSetupRebase branch.sort
  checkout.defaultRemote checkout.guess checkout.thresholdForParallelism checkout.workers clean.requireForce
  clone.defaultRemoteName clone.filterSubmodules clone.rejectShallow color.* column.* commit.cleanup commit.gpgSign
  commit.status commit.verbose commitGraph.changedPaths commitGraph.changedPathsVersion
  commitGraph.generationVersion commitGraph.maxNewFilters commitGraph.readChangedPaths committer.email
  committer.name core.abbrev core.alternateRefsPrefixes core.autocrlf core.bare core.bigFileThreshold
  core.checkRoundtripEncoding core.checkStat core.commentChar core.commentString core.commitGraph core.compression
  core.configLockTimeout core.createObject core.deltaBaseCacheLimit core.eol core.fileMode core.filesRefLockTimeout
  core.fsync core.fsyncMethod core.fsyncObjectFiles core.hideDotFiles core.ignoreCase core.ignoreStat
  core.lockfilePid core.logAllRefUpdates core.looseCompression core.maxTreeDepth core.multiPackIndex core.notesRef
  core.packedGitLimit core.packedGitWindowSize core.packedRefsTimeout core.precomposeUnicode core.preferSymlinkRefs
  core.preloadIndex core.protectHFS core.protectNTFS core.quotePath core.repositoryFormatVersion
  core.restrictinheritedhandles core.safecrlf core.sharedRepository core.sparseCheckout core.sparseCheckoutCone
  core.splitIndex core.symlinks core.trustctime core.untrackedCache core.useReplaceRefs core.warnAmbiguousRefs
  core.whitespace credential.interactive credential.protectProtocol credential.sanitizePrompt credential.useHttpPath
  credential.username diff.<driver>.binary diff.<driver>.cachetextconv diff.<driver>.trustExitCode
  diff.<driver>.wordRegex diff.<driver>.xfuncname diff.algorithm diff.autoRefreshIndex diff.colorMoved
  diff.colorMovedWS diff.context diff.dirstat diff.dstPrefix diff.ignoreSubmodules diff.indentHeuristic
  diff.interHunkContext diff.mnemonicPrefix diff.noPrefix diff.noprefix diff.relative diff.renameLimit diff.renames
  diff.srcPrefix diff.statGraphWidth diff.statNameWidth diff.submodule diff.suppressBlankEmpty diff.trustExitCode
  diff.wordRegex diff.wsErrorHighlight feature.* feature.experimental feature.manyFiles fetch.all
  fetch.bundleCreationToken fetch.followRemoteHEAD fetch.fsck.<msg-id> fetch.fsckObjects fetch.negotiationAlgorithm
  fetch.output fetch.parallel fetch.prune fetch.pruneTags fetch.recurseSubmodules fetch.showForcedUpdates
  fetch.unpackLimit fetch.writeCommitGraph gpg.format gpg.minTrustLevel grep.column grep.extendedRegexp
  grep.fallbackToNoIndex grep.fullName grep.lineNumber grep.patternType grep.threads hook.<event>.enabled
  hook.<event>.jobs hook.<friendly-name>.enabled hook.<friendly-name>.parallel hook.jobs http.<url>.*
  http.extraHeader http.lowSpeedLimit http.lowSpeedTime http.maxRequests http.noEPSV http.postBuffer http.userAgent
  http.version i18n.commitEncoding i18n.logOutputEncoding index.recordEndOfIndexEntries index.recordOffsetTable
  index.skipHash index.sparse index.threads index.version interactive.singleKey log.abbrevCommit log.date
  log.decorate log.diffMerges log.excludeDecoration log.follow log.graphColors log.graphIndent
  log.initialDecorationSet log.mailmap log.showRoot log.showSignature mailmap.blob merge.<driver>.name
  merge.<driver>.recursive merge.autoStash merge.branchdesc merge.conflictStyle merge.defaultToUpstream
  merge.directoryRenames merge.ff merge.log merge.renameLimit merge.renames merge.renormalize merge.stat
  merge.suppressDest merge.verbosity merge.verifySignatures notes.<name>.mergeStrategy notes.displayRef
  notes.mergeStrategy notes.rewrite.<command> notes.rewriteMode notes.rewriteRef pack.allowPackReuse
  pack.compression pack.deltaCacheLimit pack.deltaCacheSize pack.depth pack.indexVersion pack.island pack.islandCore
  pack.packSizeLimit pack.preferBitmapTips pack.readReverseIndex pack.threads pack.useBitmapBoundaryTraversal
  pack.useBitmaps pack.usePathWalk pack.useSparse pack.window pack.windowMemory pack.writeBitmapHashCache
  pack.writeBitmapLookupTable pack.writeReverseIndex pretty.<name> protocol.version pull.autoStash pull.ff
  pull.rebase push.autoSetupRemote push.default push.followTags push.gpgSign push.negotiate push.recurseSubmodules
  push.useBitmaps push.useForceIfIncludes rebase.abbreviateCommands rebase.autoSquash rebase.autoStash
  rebase.backend rebase.forkPoint rebase.maxLabelLength rebase.missingCommitsCheck rebase.rebaseMerges
  rebase.rescheduleFailedExec rebase.stat rebase.updateRefs reftable.blockSize reftable.geometricFactor
  reftable.indexObjects reftable.lockTimeout reftable.restartInterval remote.<name>.advertisedAs remote.<name>.fetch
  remote.<name>.followRemoteHEAD remote.<name>.mirror remote.<name>.negotiationInclude
  remote.<name>.negotiationRestrict remote.<name>.partialclonefilter remote.<name>.proxyAuthMethod
  remote.<name>.prune remote.<name>.pruneTags remote.<name>.push remote.<name>.serverOption
  remote.<name>.skipDefaultUpdate remote.<name>.skipFetchAll remote.<name>.tagOpt revert.reference sideband.<url>.*
  sideband.allowControlCharacters sparse.expectFilesOutsideOfPatterns splitIndex.maxPercentChange
  splitIndex.sharedIndexExpire stash.index stash.showIncludeUntracked stash.showPatch stash.showStat
  status.aheadBehind status.branch status.compareBranches status.displayCommentPrefix status.relativePaths
  status.renameLimit status.renames status.short status.showStash status.showUntrackedFiles status.submoduleSummary
  submodule.<name>.active submodule.<name>.branch submodule.<name>.fetchRecurseSubmodules submodule.active
  submodule.alternateErrorStrategy submodule.alternateLocation submodule.fetchJobs submodule.propagateBranches
  submodule.recurse tag.forceSignAnnotated tag.gpgSign tag.sort trailer.<key-alias>.ifexists
  trailer.<key-alias>.ifmissing trailer.<key-alias>.key trailer.<key-alias>.where trailer.ifexists trailer.ifmissing
  trailer.separators trailer.where transfer.advertiseObjectInfo transfer.advertiseSID transfer.credentialsInUrl
  transfer.fsckObjects transfer.hideRefs transfer.unpackLimit user.email user.name user.useConfigOnly
  versionsort.suffix worktree.guessRemote worktree.useRelativePaths
`;
