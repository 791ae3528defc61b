# Attention Playground: what is built, tested and shown starts here. `make` alone lists it.
#
#   src/**/*.c ─┬─ build/{gcc,clang,asan,double}/attn.a ─ tests/c/test_*.c   native tests
#               └─ build/simd/**/*.o, wasm/abi.c ─────── dist/attention.wasm
#   wasm/*.js, web/** ── tools/build.js ──────────────────── build/*.js, dist/*
#
# Every build of the core is one flavour: a compiler and its flags, objects in build/FLAVOUR/. The
# flags that decide a number are the same in all of them (DETERMINISM), so that all give the same
# bits. Wildcards find the sources: a new file needs no change here.
#
# V=1 shows every command. JOBS=N sets how many run at once.

V ?=
Q := $(if $(V),,@)
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SECONDARY:

say = @printf '  %-8s %s\n' '$(1)' '$(2)'
build = +$(Q)$(MAKE) -j$(JOBS)
need = $(Q)V=$(V) tools/install.sh

files = $(sort $(foreach pattern,$(1),$(wildcard $(pattern))))
SOURCES := $(call files,src/*.c src/*/*.c)
C_TESTS := $(call files,tests/c/test_*.c)
FUZZERS := $(call files,tests/c/fuzz_*.c)
BENCHES := $(call files,tests/bench/*.c)
C_FILES := $(call files,src/*.[ch] src/*/*.[ch] wasm/*.[ch] tests/*/*.[ch])

# ---- what a person types -------------------------------------------------------------------------

.PHONY: help play test test-c test-node test-browser check bench dist d2l corpora golden fuzz format clean
.PHONY: everything native

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

play: dist ## install what is missing, build, and serve the playground
	$(Q)node tools/serve.js --root dist --port 8000

test: ## install what is missing, run every test, end with "N passed, N failed"
	$(need) node npm emcc cc sanitizers chromium firefox chinese
	$(Q)node tools/test.js c node browser -- $(NATIVE_TESTS)

test-c: ## only the C tests: gcc, clang, clang with sanitizers, numbers in double
	$(need) node cc sanitizers
	$(Q)node tools/test.js c -- $(NATIVE_TESTS)

test-node: ## only the tests of the library under Node, and of the package
	$(need) node npm emcc cc sanitizers
	$(Q)node tools/test.js node -- $(NATIVE_TESTS)

test-browser: ## only the tests in Chromium and Firefox
	$(need) node npm emcc chromium firefox chinese
	$(Q)node tools/test.js browser

check: ## format, lint, types, compiler warnings, layers
	$(need) node npm emcc cc clang clang-format
	$(build) -k --output-sync check-c check-format check-js check-types check-layers

bench: ## measure speed, as ratios within one run
	$(need) node npm emcc
	$(build) everything $(if $(BENCHES),build/bench.wasm)
	$(Q)set -e; for bench in $(call files,tests/bench/*.js); do node $$bench; done

dist: ## build dist/: the wasm, the library, the elements, the pages
	$(need) node npm emcc
	$(build) everything

FRA_ENG ?=
d2l: dist ## train the book's three translation models as it does: make d2l FRA_ENG=PATH
	$(Q)node tools/d2l.js $(FRA_ENG)

corpora: dist ## train on the project's own corpora, print BLEU and alignment on unseen pairs
	$(Q)node tools/corpora.js

golden: ## rewrite the vectors of tests/golden with PyTorch, and load a saved model there
	$(need) torch node npm emcc
	$(build) everything
	$(Q)/usr/bin/python3 tests/golden/generate.py

FUZZ_SECONDS ?= 20
fuzz: ## feed random bytes to each fuzz target for FUZZ_SECONDS (20) each
	$(need) cc sanitizers
	$(build) $(FUZZERS:%.c=build/fuzz/%)
	$(Q)set -e; for target in $(FUZZERS:%.c=build/fuzz/%); do mkdir -p $$target.corpus; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -artifact_prefix=$$target. \
	  $$target.corpus; done

format: ## rewrite C and JavaScript in the project's format
	$(need) node npm clang-format
	$(Q)clang-format -i $(C_FILES)
	$(Q)node_modules/.bin/biome check --write --log-level=warn .

clean: ## remove build/ and dist/
	$(Q)rm -rf build dist

# ---- the core, in its flavours -------------------------------------------------------------------

DETERMINISM := -ffp-contract=off -fno-math-errno
C_FLAGS := -std=c11 -Isrc $(DETERMINISM) -Wall -Wextra

# Debian's emcc finds its JavaScript parts only through NODE_PATH when another Node is in use.
EMCC_PATH := $(shell command -v emcc)
EMCC := $(if $(findstring /usr/share/emscripten/,$(realpath $(EMCC_PATH))),env \
  NODE_PATH=/usr/share/nodejs) $(EMCC_PATH)
# V8 runs unrolled loops slower. What is not in a hot loop of training or decoding is small instead:
# less to load, and V8 compiles a function when it is first called.
HOT := src/math/% src/tape/% $(patsubst %,src/ops/%.c,dropout elementwise gru heads linear \
  mask mix score weights)
# Vector instructions stand where src/math/simd.h is used, and in the few loops which clang makes faster
# with them; those it writes elsewhere are only longer.
VECTORISED := $(patsubst %,src/ops/%.c,dropout elementwise heads linear)
NO_VECTORS := -fno-vectorize -fno-slp-vectorize
WASM_C_FLAGS = -O3 -fno-unroll-loops $(if $(filter $(HOT),$<),,-Os) \
  $(if $(filter $(VECTORISED),$<),,$(NO_VECTORS))
# TOTAL_STACK is the name that every emcc knows. The stack lies below the data: its overflow traps.
WASM_LINK_FLAGS := -O3 -msimd128 --no-entry -sSTANDALONE_WASM -sTOTAL_STACK=64KB -Wl,--stack-first \
  -sINITIAL_MEMORY=1MB -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=512MB

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

FLAVOURS := gcc clang asan double fuzz simd
NATIVE := gcc clang asan
CC_gcc := gcc -O3
CC_clang := clang -O2
CC_asan := clang -O1 -g $(SANITIZE)
CC_double := gcc -O2 -DATTN_DOUBLE
CC_fuzz := clang -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
CC_simd = $(EMCC) $(WASM_C_FLAGS) -msimd128

# An object depends on the Makefile for its flags, an archive on the list of sources, so that a
# removed file leaves it.
define flavour
build/$(1)/%.o: %.c Makefile
	$$(call say,$(1),$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC_$(1)) $$(C_FLAGS) -MMD -MP -c -o $$@ $$<

build/$(1)/attn.a: $$(SOURCES:%.c=build/$(1)/%.o) build/sources
	$$(Q)rm -f $$@
	$$(Q)ar rcs $$@ $$(filter %.o,$$^)

build/$(1)/tests/c/test_%: build/$(1)/tests/c/test_%.o build/$(1)/attn.a
	$$(Q)$$(CC_$(1)) -o $$@ $$^ -lm
endef
$(foreach name,$(FLAVOURS),$(eval $(call flavour,$(name))))

build/fuzz/tests/c/fuzz_%: build/fuzz/tests/c/fuzz_%.o build/fuzz/attn.a
	$(Q)$(CC_fuzz) -fsanitize=fuzzer -o $@ $^ -lm

# In double the tests that compare with a definition ask for 1e-12.
DOUBLE_NAMES := attention backward gradients gradients_model kernel_regression layers losses masks recurrent seq2seq train
DOUBLE_TESTS := $(DOUBLE_NAMES:%=build/double/tests/c/test_%)
NATIVE_TESTS := $(foreach name,$(NATIVE),$(C_TESTS:%.c=build/$(name)/%)) $(DOUBLE_TESTS)
native: $(NATIVE_TESTS)

$(shell mkdir -p build; echo '$(SOURCES)' | cmp -s - build/sources || echo '$(SOURCES)' >build/sources)

# emcc adds exports of its own; trim-wasm.js takes them off again and refuses imports.
dist/attention.wasm: $(SOURCES:%.c=build/simd/%.o) build/simd/wasm/abi.o build/sources tools/trim-wasm.js
	$(call say,link,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(EMCC) $(WASM_LINK_FLAGS) -o build/$(@F) $(filter %.o,$^)
	$(Q)node tools/trim-wasm.js build/$(@F) $@

build/bench.wasm: $(SOURCES:%.c=build/simd/%.o) $(BENCHES:%.c=build/simd/%.o) build/sources
	$(call say,link,$@)
	$(Q)$(EMCC) $(WASM_LINK_FLAGS) -o $@ $(filter %.o,$^)

-include $(foreach name,$(FLAVOURS),$(call files,build/$(name)/*/*.d build/$(name)/*/*/*.d))

# ---- the page ------------------------------------------------------------------------------------

PAGE := $(call files,wasm/*.js web/* web/*/* web/*/*/*) tools/build.js package.json package-lock.json

everything: build/page
	@:

build/page: dist/attention.wasm $(PAGE)
	$(call say,page,dist/)
	$(Q)node tools/build.js
	@touch $@

# ---- checks --------------------------------------------------------------------------------------

.PHONY: check-c check-format check-js check-types check-layers

STRICT := -Werror -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla

check-c:
	$(call say,check,compiler warnings)
	$(Q)gcc -O2 $(C_FLAGS) $(STRICT) -fsyntax-only $(SOURCES)
	$(Q)gcc -O2 -DATTN_DOUBLE $(C_FLAGS) $(STRICT) -fsyntax-only $(SOURCES)
	$(Q)clang $(C_FLAGS) $(STRICT) -fsyntax-only $(SOURCES)

check-format:
	$(call say,check,format of C)
	$(Q)clang-format --dry-run --Werror $(C_FILES)

check-js:
	$(call say,check,format and lint of JavaScript)
	$(Q)node_modules/.bin/biome ci --colors=off --error-on-warnings .

check-types: everything
	$(call say,check,types)
	$(Q)node_modules/.bin/tsc --project tsconfig.json
	$(Q)node_modules/.bin/tsc --project tools/tsconfig.json

check-layers:
	$(call say,check,layers)
	$(Q)node tools/check-layers.js
