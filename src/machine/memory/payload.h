// What a memory of ours asks of a generic payload before it touches its bytes, and the payload as a burst.
#pragma once
#include <cstdint>
#include <tlm>

#include "links/dbb_socket.h"
#include "memory/memory_store.h"

namespace dlasim {

/// A memory keeps the payload until END_RESP, so it needs to see the end.
inline constexpr const char* kNoMemoryManager =
    "the payload has no memory manager, expected one by tlm_generic_payload::set_mm(): the base protocol asks initiators of nb_transport "
    "for it";

/// OK, or the response to a payload whose bytes cannot be moved.
inline tlm::tlm_response_status refusal_of(const tlm::tlm_generic_payload& payload)
{
    const std::uint64_t bytes = payload.get_data_length();
    if (bytes == 0 || payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
    if (!payload.get_data_ptr()) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    // A width of 0 is what a payload begins with: not set.
    if (payload.get_streaming_width() != 0 && payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (payload.get_byte_enable_ptr() && payload.get_byte_enable_length() == 0) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (payload.get_address() + (bytes - 1) < payload.get_address()) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return tlm::TLM_OK_RESPONSE;
}

inline MemoryBurst burst_of(const tlm::tlm_generic_payload& payload)
{
    MemoryBurst burst;
    burst.address = payload.get_address();
    burst.data = payload.get_command() == tlm::TLM_IGNORE_COMMAND ? nullptr : payload.get_data_ptr();
    burst.bytes = payload.get_data_length();
    burst.enables = payload.get_byte_enable_ptr();
    burst.enable_bytes = payload.get_byte_enable_length();
    burst.write = payload.is_write();
    burst.waits = payload.get_extension<PortWaits>();
    if (const BurstClient* client = payload.get_extension<BurstClient>()) burst.beat_bytes = client->beat_bytes;
    return burst;
}

/// To or from the bytes of the burst; `address` is where they are in the store.
inline void move(MemoryStore& store, const MemoryBurst& burst, std::uint64_t address)
{
    if (!burst.data) return;
    if (!burst.write) store.read(address, burst.data, burst.bytes);
    else if (burst.enables) store.write(address, burst.data, burst.bytes, burst.enables, burst.enable_bytes);
    else store.write(address, burst.data, burst.bytes);
}

}  // namespace dlasim
