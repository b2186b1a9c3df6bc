// Linked into every executable of a build with AddressSanitizer (DLASIM_SANITIZE): tells it which stack is in use.
//
// SystemC 2.3.4 runs each thread process as a coroutine on a stack of its own and announces the switches, but incompletely:
//   1. a switch back to the main stack, on which sc_start and all method processes run, announces a stack of no size;
//   2. when a thread process ends, the switch away from its stack is not announced at all.
// The sanitizer then does not know the bounds of the main stack. Frames that an exception unwinds there stay marked as out of
// bounds, and whoever uses that memory next is reported; the leak check reads a stack that is gone. Both are mended here by
// definitions that take precedence over those of the shared libraries. tests/wiring/coroutine_stacks_test.cpp fails without them.
//
// Left out  detect_stack_use_after_return (off by default with GCC): SystemC does not keep a coroutine's shadow frames.
#include <dlfcn.h>
#include <pthread.h>
#include <sysc/kernel/sc_cor.h>

#include <cstddef>

namespace {

struct Stack {
    void* bottom = nullptr;
    std::size_t size = 0;
};

Stack main_stack()
{
    Stack stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
    pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
    pthread_attr_destroy(&attributes);
    return stack;
}

}  // namespace

extern "C" {

/// 1. SystemC's call of the sanitizer's function. Nothing else here switches stacks.
void __sanitizer_start_switch_fiber(void** shadow_frames, const void* bottom, std::size_t size)
{
    using Function = void(void**, const void*, std::size_t);
    static Function* const announce = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "__sanitizer_start_switch_fiber"));
    static const Stack main = main_stack();
    if (bottom) announce(shadow_frames, bottom, size);
    else announce(shadow_frames, main.bottom, main.size);
}

/// 2. sc_cor_pkg_qt::abort(next), the last switch away from a coroutine. A switch that could come back is announced, and nobody comes back.
void dlasim_leave_coroutine(sc_core::sc_cor_pkg* coroutines,
                            sc_core::sc_cor* next) __asm__("_ZN7sc_core13sc_cor_pkg_qt5abortEPNS_6sc_corE");
void dlasim_leave_coroutine(sc_core::sc_cor_pkg* coroutines, sc_core::sc_cor* next) { coroutines->yield(next); }

}  // extern "C"
