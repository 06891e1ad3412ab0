// RUN: tg-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{id -1 is negative}}
%u = tg_legacy.unique -1

// -----

// expected-error@below {{property 'id' expected in operation 'tg_legacy.unique'}}
%u = "tg_legacy.unique"() : () -> !tg.void

// -----

// expected-error@below {{Expected integer literal}}
%u = tg_legacy.unique "a"
