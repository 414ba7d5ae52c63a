// An append-only array of plain numbers for indexes of millions of records. It grows by realloc, which moves pages
// instead of copying them once the array is large, so that growing never holds two copies, and what is
// reserved beyond the end is not resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace fsdpckpt {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingArray() = default;
  ~GrowingArray() { std::free(data_); }
  GrowingArray(GrowingArray&& other) noexcept { swap(other); }
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    swap(other);
    return *this;
  }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  /// Appends all of `values`, which may not lie in this array, and returns the index of the first.
  std::size_t append(std::span<const T> values) {
    if (size_ + values.size() > capacity_) grow(size_ + values.size());
    const std::size_t first = size_;
    for (const T& value : values) data_[size_++] = value;
    return first;
  }
  [[nodiscard]] T& operator[](std::size_t index) { return data_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return data_[index]; }
  [[nodiscard]] std::span<const T> slice(std::size_t first, std::size_t count) const { return {data_ + first, count}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Forgets what is behind the first `size` values.
  void shrink(std::size_t size) { size_ = size; }
  /// Bytes in use (not what is reserved).
  [[nodiscard]] std::uint64_t bytes() const { return size_ * sizeof(T); }

 private:
  void swap(GrowingArray& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void grow(std::size_t needed) {
    std::size_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
    if (capacity < needed) capacity = needed;
    auto* data = static_cast<T*>(std::realloc(data_, capacity * sizeof(T)));
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fsdpckpt
