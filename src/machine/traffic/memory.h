// What travels between the memory clients, MCIF/CVIF and the memory ports. Source: fabric.md 1.2.
#pragma once
#include <array>
#include <cstdint>

#include "base/quantity.h"
#include "facts/client.h"
#include "links/wire.h"

namespace dlasim {

/// The widest beat of any generation: nv_full's 64 bytes.
inline constexpr std::size_t kMaxBeatBytes = 64;

/// One DMA read: `atoms` memory atoms from an atom-aligned byte address.
struct ReadRequest {
    Address address{};
    std::uint32_t atoms = 0;
};

/// One response beat: atoms packed in request order from lane 0. `atoms` is 1 or 2 in nv_full
/// (1 on the last beat of an odd request), 1 elsewhere.
struct ReadBeat {
    std::uint32_t atoms = 0;
    alignas(32) std::array<std::uint8_t, kMaxBeatBytes> data{};
};

/// A write request is a command followed by its data beats on the same channel.
struct WritePacket {
    bool command = false;
    bool require_ack = false;  // command: answer with one complete pulse
    std::uint32_t atoms = 0;   // command: atoms of the request; data: atoms in this beat
    Address address{};         // command
    alignas(32) std::array<std::uint8_t, kMaxBeatBytes> data{};
};

/// A read client's connection to one memory interface.
struct ReadLink {
    Channel<ReadRequest> request;  // client to interface
    Channel<ReadBeat> response;    // interface to client
    Pulse<bool> credit;            // client to interface: a word left the latency FIFO (not CDMA)
};

/// A write client's connection to one memory interface.
struct WriteLink {
    Channel<WritePacket> request;  // client to interface
    Pulse<bool> complete;          // interface to client: the acknowledged request is in memory
};

}  // namespace dlasim
