#include "app/no_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "app/status.h"

namespace dlasim {
namespace {

constexpr std::size_t kReserve = 256 << 10;  // for unwinding and a message
constexpr std::size_t kLittle = 1 << 20;     // what is not there when an abort is for want of memory

volatile std::sig_atomic_t g_failed = 0, g_status = kBadInput;
void* g_reserve = nullptr;

[[noreturn]] void fail()
{
    g_failed = 1;
    std::free(std::exchange(g_reserve, nullptr));
    throw std::bad_alloc();
}

[[noreturn]] void end_without_memory()
{
    static_cast<void>(!::write(STDERR_FILENO, kNoMemoryText, std::strlen(kNoMemoryText)));
    ::_exit(g_status);
}

[[noreturn]] void end_on_terminate()
{
    if (g_failed != 0) end_without_memory();
    __gnu_cxx::__verbose_terminate_handler();
    std::abort();
}

bool memory_exhausted()
{
    void* const place = ::mmap(nullptr, kLittle, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return true;
    ::munmap(place, kLittle);
    return false;
}

/// Of SIGABRT, and of SIGSEGV where a stack cannot grow.
void on_fatal_signal(int signal)
{
    if (g_failed != 0 || memory_exhausted()) end_without_memory();
    std::signal(signal, SIG_DFL);
    ::raise(signal);
}

}  // namespace

void watch_allocations()
{
    g_reserve = std::malloc(kReserve);
    std::set_new_handler(fail);
    std::set_terminate(end_on_terminate);
    std::signal(SIGABRT, on_fatal_signal);
    // A stack that cannot grow cannot hold a handler.
    static char stack[16 << 10];
    stack_t place = {};
    place.ss_sp = stack;
    place.ss_size = sizeof stack;
    struct sigaction action = {};
    action.sa_handler = on_fatal_signal;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    if (::sigaltstack(&place, nullptr) == 0) ::sigaction(SIGSEGV, &action, nullptr);
}

bool allocation_failed() { return g_failed != 0; }

void forget_failed_allocation()
{
    g_failed = 0;
    if (!g_reserve) g_reserve = std::malloc(kReserve);
}

void set_no_memory_status(int status) { g_status = status; }

}  // namespace dlasim
