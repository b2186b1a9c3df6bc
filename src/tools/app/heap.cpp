#include "app/heap.h"

#ifndef __SANITIZE_ADDRESS__
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kLarge = std::size_t{3} << 20;   // a block in pages of its own; that of SystemC at its start is the smallest
constexpr std::size_t kHeap = std::size_t{512} << 20;  // of addresses; memory is taken when it is touched

/// From here to where a page begins.
std::size_t to_page(const void* place) { return -reinterpret_cast<std::uintptr_t>(place) % kPage; }

/// Where the kernel has no large pages, nothing is lost.
void in_large_pages(char* begin, const char* end)
{
    if (begin < end) static_cast<void>(::madvise(begin, static_cast<std::size_t>(end - begin), MADV_HUGEPAGE));
}

/// Its last page is a large one if half of it is used.
void* large_block(std::size_t size)
{
    if (size > PTRDIFF_MAX - kPage) return nullptr;
    const std::size_t paged = (size + kPage / 2) / kPage * kPage;
    auto* const block = static_cast<char*>(std::aligned_alloc(kPage, std::max(size, paged)));
    if (block) in_large_pages(block, block + paged);
    return block;
}

bool g_large_pages = false;  // of the heap

char* end_of_heap() { return static_cast<char*>(::sbrk(0)); }

}  // namespace

void* operator new(std::size_t size)
{
    for (;;) {
        if (void* const block = size < kLarge ? std::malloc(std::max<std::size_t>(size, 1)) : large_block(size)) return block;
        const std::new_handler handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

void dlasim::use_large_pages()
{
    rlimit addresses = {};
    if (::getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) return;
    ::mallopt(M_MMAP_THRESHOLD, kLarge);
    ::mallopt(M_TRIM_THRESHOLD, kHeap);
    ::mallopt(M_TOP_PAD, kHeap);
    // What was left of the heap is used up, so that it grows.
    char* const begin = end_of_heap();
    std::array<void*, 4> blocks = {};
    for (std::size_t i = 0; i < blocks.size() && end_of_heap() == begin; ++i) blocks[i] = std::malloc(100'000);
    for (void* const block : blocks) std::free(block);
    in_large_pages(begin + to_page(begin), end_of_heap());
    g_large_pages = true;
}

void dlasim::leave_pages_of_parent()
{
    if (!g_large_pages) return;
    // No hole is as large: the block comes after all that is used. What is left of it reaches to the next page.
    void* const block = std::malloc(kLarge - kPage / 4);
    if (to_page(block) == 0) return;
    [[maybe_unused]] const void* const rest = std::realloc(block, to_page(block));
}
#else
void dlasim::use_large_pages() {}
void dlasim::leave_pages_of_parent() {}
#endif
