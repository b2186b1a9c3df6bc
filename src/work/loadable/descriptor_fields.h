// Bytes of descriptors as fields, for the layouts of descriptor_layout.h; how long each descriptor is.
//
// Source  loadable.md 3.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace dlasim::loadable {

inline constexpr std::uint64_t kNetworkBytes = 40, kCommonBytes = 36, kOperationBytes = 116, kSurfaceBytes = 644, kTableBytes = 700;
inline constexpr std::size_t kMaxTransfers = 20;

/// Fields of a packed little-endian structure, one after the other.
class Fields {
public:
    explicit Fields(std::vector<std::uint8_t> bytes, bool has_offsets = false) : bytes_(std::move(bytes)), has_offsets_(has_offsets) {}

    template <class T>
    T get()
    {
        std::make_unsigned_t<T> value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value = static_cast<std::make_unsigned_t<T>>(value | static_cast<std::make_unsigned_t<T>>(bytes_[at_ + i]) << (8 * i));
        at_ += sizeof(T);
        return static_cast<T>(value);
    }
    template <class... T>
    void fields(T&... values)
    {
        ((values = get<T>()), ...);
    }
    template <class T, std::size_t N>
    void list(std::array<T, N>& values)
    {
        for (T& value : values) value = get<T>();
    }
    template <class T>
    void half(T& value)
    {
        value = static_cast<T>(get<std::uint16_t>());
    }
    void offset(std::uint32_t& value)
    {
        if (has_offsets_) value = get<std::uint32_t>();
    }
    void gap(std::size_t bytes) { at_ += bytes; }

private:
    std::vector<std::uint8_t> bytes_;
    bool has_offsets_;  // of cubes
    std::size_t at_ = 0;
};

}  // namespace dlasim::loadable
