// Exceptions that are thrown and caught on every kind of stack a simulation has, before and after SystemC has switched between
// them: a build with AddressSanitizer must know the bounds of each (tests/sanitizer/coroutine_stacks.cpp).
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <systemc>

namespace {

/// The compiler must assume that somebody reads and writes all of `bytes`.
void used(char* bytes) { asm volatile("" : : "r"(bytes) : "memory"); }

/// Leaves many frames by an exception.
int fall(int depth)
{
    std::array<char, 256> frame;
    frame.fill(static_cast<char>(depth));
    used(frame.data());
    if (depth == 0) throw std::runtime_error("fallen");
    return fall(depth - 1) + frame[3];
}

/// Writes where those frames were.
int reuse()
{
    std::array<char, 8192> frame;
    frame.fill(1);
    used(frame.data());
    return frame[17];
}

int fall_and_reuse()
{
    try {
        return fall(20);
    } catch (const std::runtime_error&) {
        return reuse();
    }
}

struct Processes : sc_core::sc_module {
    int calls = 0;
    sc_core::sc_event event{"event"};

    explicit Processes(const sc_core::sc_module_name& name) : sc_module(name)
    {
        SC_HAS_PROCESS(Processes);
        SC_THREAD(ends);
        SC_THREAD(stays);
        SC_METHOD(method);
        sensitive << event;
        dont_initialize();
    }
    void ends()
    {
        calls += fall_and_reuse();
        wait(2, sc_core::SC_NS);
        calls += fall_and_reuse();
    }
    void stays()
    {
        for (;;) {
            wait(1, sc_core::SC_NS);
            event.notify(sc_core::SC_ZERO_TIME);
            calls += fall_and_reuse();
        }
    }
    void method() { calls += fall_and_reuse(); }
};

}  // namespace

TEST(CoroutineStacks, AnExceptionIsCaughtOnEveryStack)
{
    Processes processes("processes");
    int on_main = fall_and_reuse();
    for (int ns = 0; ns < 4; ++ns) {
        sc_core::sc_start(1, sc_core::SC_NS);
        on_main += fall_and_reuse();
    }
    EXPECT_EQ(on_main, 5);
    EXPECT_GE(processes.calls, 2 + 3 + 3);
}
