// The heap of the program. Tensors and images come and go: their memory is kept for the next one, not given back to the
// system and cleared again by it, and it stands in large pages: one fault for 2 MB instead of 512. SystemC's library
// clears 3 MB when it is loaded, so the heap is prepared before any library starts. A sanitizer has a heap of its own.
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

#include "app/no_memory.h"

namespace dlasim {
namespace {

constexpr std::uintptr_t kLargePage = 2 << 20;
// Bytes of address space; memory is taken where it is used. Weights of a network are hundreds of megabytes.
constexpr int kHeap = 512 << 20, kSmallHeap = 64 << 20;

char* heap_end() { return static_cast<char*>(sbrk(0)); }

/// False where a limit of the process leaves less.
bool may_grow(int bytes)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what sbrk answers when it fails
    return sbrk(bytes) != reinterpret_cast<void*>(-1) && (sbrk(-bytes), true);
}

void prepare_heap()
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, may_grow(kHeap) ? kHeap : kSmallHeap);
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    // The first block makes the heap grow. It is to touch a page of its own, below the first large one.
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(heap_end()) + page;
    const std::uintptr_t left = -from % kLargePage;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what sbrk answers when it fails
    if (sbrk(static_cast<std::intptr_t>(left)) == reinterpret_cast<void*>(-1)) return;
    char* const large = heap_end() + page;
    void* volatile block = std::malloc(1);  // volatile, or the compiler leaves both calls out
    std::free(block);
    mallopt(M_TOP_PAD, 1 << 20);  // it rarely grows again, and then by what is asked for
    // A system that does not do it costs time only.
    if (heap_end() > large) madvise(large, static_cast<std::size_t>(heap_end() - large), MADV_HUGEPAGE);
}

void prepare()
{
    prepare_heap();
    watch_allocations();
}

// Functions of this section run before those of the libraries.
[[gnu::used, gnu::section(".preinit_array")]] void (*const first)() = prepare;

}  // namespace
}  // namespace dlasim
#endif
