dlasim_test(products_test.cpp quick USES dlasim::golden)
dlasim_test(expected_test.cpp quick USES dlasim::golden)
