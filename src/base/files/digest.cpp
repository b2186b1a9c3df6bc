#include "base/files/digest.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <fstream>
#include <vector>

namespace dlasim {

struct Digest::State {
    XXH3_state_t hash;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->hash); }
Digest::~Digest() = default;

void Digest::add(std::string_view bytes)
{
    const std::uint64_t length = bytes.size();
    XXH3_128bits_update(&state_->hash, &length, sizeof length);
    XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

void Digest::add_file(const std::filesystem::path& file)
{
    constexpr std::size_t kBlock = 1 << 16;
    std::ifstream in(file, std::ios::binary);
    std::vector<char> block(kBlock);
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() != 0)
        add({block.data(), static_cast<std::size_t>(in.gcount())});
}

std::string Digest::text() const
{
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace dlasim
