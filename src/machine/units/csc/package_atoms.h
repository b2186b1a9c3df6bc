#pragma once
#include <cstdint>
#include <vector>

namespace dlasim::csc {

/// The atoms of a package as CMAC gets them: pointers into the CBUF, or into `bytes`.
struct PackageAtoms {
    std::vector<const std::uint8_t*> atoms;
    std::vector<std::uint8_t> bytes;
    std::uint32_t lanes = 0;  // elements of an atom that can be other than zero

    /// Space for pointers to `count` atoms.
    void make_room(std::uint32_t count);
    /// Space for `count` atoms of `atom_bytes` each in `bytes`, which the atoms point to.
    void make_room_in_bytes(std::uint32_t count, std::uint32_t atom_bytes);
    std::uint8_t* atom(std::uint32_t i, std::uint32_t atom_bytes) { return bytes.data() + std::size_t{i} * atom_bytes; }
};

}  // namespace dlasim::csc
