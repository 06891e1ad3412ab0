// RUN: tg-opt %s --split-input-file --verify-diagnostics

%d = tg_legacy.device "CPU"
// expected-error@below {{expected a BLOCK, BLOCKSTART, BLOCKFORK or BLOCKEND, got tg_legacy.device}}
%f = tg_legacy.blockfork %d 2

// -----

%b = tg_legacy.block
// expected-error@below {{a fork has two branches or more, got 1}}
%f = tg_legacy.blockfork %b 1

// -----

%b = tg_legacy.block
// expected-error@below {{a fork of 3 branches has 2}}
%f = tg_legacy.blockfork %b 3
%c = tg_legacy.block after %f
%d = tg_legacy.block after %f
