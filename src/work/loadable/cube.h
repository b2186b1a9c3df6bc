// A surface of a compiled file's operation.
//
// Shapes  sizes in elements, strides and offsets in bytes.
// Source  loadable.md 3.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace dlasim::loadable {

enum class CubeMemory : std::uint16_t { Primary = 0, Secondary = 1, Unit = 2 };  // Unit: on the fly from or to a neighbour

struct Cube {
    CubeMemory memory = CubeMemory::Primary;
    std::int16_t address = -1;  // in the address list of the task, -1 none
    std::uint32_t offset = 0, size = 0;
    std::uint32_t width = 0, height = 0, channels = 0;
    std::uint32_t line_stride = 0, surface_stride = 0, plane_stride = 0;

    bool on_the_fly() const { return memory == CubeMemory::Unit; }
    bool operator==(const Cube&) const = default;
};

/// That type, to be read or written.
template <class O, class Type>
concept OneOf = std::same_as<std::remove_const_t<O>, Type>;

/// Its fields in a file (descriptor_layout.h).
template <class Fields, OneOf<Cube> C>
void cube_layout(Fields& f, C& cube)
{
    f.half(cube.memory);
    f.fields(cube.address);
    f.offset(cube.offset);
    f.fields(cube.size);
    f.half(cube.width);
    f.half(cube.height);
    f.half(cube.channels);
    f.gap(2);
    f.fields(cube.line_stride, cube.surface_stride, cube.plane_stride);
}

}  // namespace dlasim::loadable
