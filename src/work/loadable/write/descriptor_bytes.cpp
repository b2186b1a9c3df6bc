#include "loadable/write/descriptor_bytes.h"

#include <type_traits>

#include "loadable/descriptor_layout.h"

namespace dlasim::loadable {
namespace {

constexpr std::size_t kNetworkSlot = 40, kOperationSlot = 116, kSurfaceSlot = 644;

/// A packed little-endian structure, field by field.
class PackedFields {
public:
    template <class T>
    void put(T value)
    {
        const auto word = static_cast<std::make_unsigned_t<T>>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
    }
    template <class... T>
    void fields(const T&... values)
    {
        (put(values), ...);
    }
    template <class T, std::size_t N>
    void list(const std::array<T, N>& values)
    {
        for (const T& value : values) put(value);
    }
    template <class T>
    void half(T value)
    {
        put(static_cast<std::uint16_t>(value));
    }
    void offset(std::uint32_t value) { put(value); }
    void gap(std::size_t bytes) { bytes_.resize(bytes_.size() + bytes); }
    void pad_to(std::size_t size) { bytes_.resize(size); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

private:
    std::vector<std::uint8_t> bytes_;
};

void put_bdma(PackedFields& surface, PackedFields& f, const BdmaOperation& o)
{
    const auto count = static_cast<std::uint16_t>(o.transfers.size());
    surface.fields(std::uint8_t{!o.from_primary}, std::uint8_t{!o.to_primary}, count);
    for (const Transfer& t : o.transfers) transfer_layout(surface, t);
    f.fields(count, std::uint16_t{0});
}

void put_operation(PackedFields& surface, PackedFields& f, const Operation& o)
{
    if (o.kind == Kind::Bdma) put_bdma(surface, f, o.bdma);
    else kind_layout(surface, f, o);
}

std::vector<std::uint8_t> network_bytes(const HardwareTask& task, const ListPlaces& places)
{
    PackedFields f;
    f.fields(places.operations, places.surfaces, places.dependencies, places.tables);
    for (int list = 0; list < 3; ++list) f.put(std::int16_t{-1});  // regions of interest, their surface, statistics
    f.gap(2);
    f.list(task.heads);
    f.fields(std::uint16_t{1}, static_cast<std::uint16_t>(task.operations.size()), static_cast<std::uint16_t>(task.tables.size()),
             places.addresses);
    f.pad_to(kNetworkSlot);
    return f.take();
}

}  // namespace

DescriptorBytes descriptor_bytes(const HardwareTask& task, const ListPlaces& places)
{
    PackedFields graph, operations, surfaces, tables;
    std::size_t slot = 0;
    for (const Operation& o : task.operations) {
        ++slot;
        graph.gap(3);
        graph.put(static_cast<std::uint8_t>(o.kind));
        links_layout(graph, o);
        put_operation(surfaces, operations, o);
        operations.pad_to(slot * kOperationSlot);
        surfaces.pad_to(slot * kSurfaceSlot);
    }
    for (const LookupTable& table : task.tables) table_layout(tables, table);
    return {network_bytes(task, places), graph.take(), operations.take(), surfaces.take(), tables.take()};
}

}  // namespace dlasim::loadable
