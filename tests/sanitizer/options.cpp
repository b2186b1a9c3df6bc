// Linked into every executable of a build with AddressSanitizer (DLASIM_SANITIZE): its options, which ASAN_OPTIONS extends.
//
// handle_sigill        a failed check of UndefinedBehaviorSanitizer is a trap: it is reported with its stack
// malloc_context_size  of allocations and releases this many frames are recorded, in place of 30

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "handle_sigill=1:malloc_context_size=8"; }
